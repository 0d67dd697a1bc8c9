package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// TestCompose reads compose.yaml as far as that goes without an engine: it parses, has
// two replicas of one service on one database, and names only variables that are flags.
func TestCompose(t *testing.T) {
	data, err := os.ReadFile("../../compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Build, Image string
			Environment  map[string]string
			Networks     any
			Volumes      []string
			Configs      []struct{ Source, Target string }
			Ports        []string
		}
		Networks, Volumes map[string]any
		Configs           map[string]struct{ Content string }
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	replicas, flags := 0, flagVariables()
	for name, s := range file.Services {
		if s.Build != "" {
			replicas++
			if !strings.HasPrefix(s.Environment["TOOLMARK_DATABASE"], "postgres://") {
				t.Errorf("%s has the database %q", name, s.Environment["TOOLMARK_DATABASE"])
			}
			for variable := range s.Environment {
				if !flags[variable] {
					t.Errorf("%s sets %s, which is no flag of serve", name, variable)
				}
			}
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s beyond this machine", name, port)
			}
		}
		for _, v := range s.Volumes {
			if volume, _, _ := strings.Cut(v, ":"); file.Volumes != nil {
				if _, known := file.Volumes[volume]; !known {
					t.Errorf("%s: no volume %s", name, volume)
				}
			}
		}
		for _, c := range s.Configs {
			if file.Configs[c.Source].Content == "" {
				t.Errorf("%s: no config %s", name, c.Source)
			}
		}
	}
	if replicas != 2 || file.Services["postgres"].Image == "" || file.Services["proxy"].Image == "" {
		t.Errorf("%d replicas in %v", replicas, file.Services)
	}
	for name := range file.Services {
		if strings.HasPrefix(name, "toolmark-") && !strings.Contains(file.Configs["proxy"].Content, "server "+name+":8080;") {
			t.Errorf("the proxy does not know %s", name)
		}
	}
}

// TestDockerfile holds the variables of the Dockerfile to flags, and the image to a
// user that is not root.
func TestDockerfile(t *testing.T) {
	data, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	flags := flagVariables()
	names := regexp.MustCompile(`TOOLMARK_[A-Z_]+`).FindAllString(string(data), -1)
	if len(names) == 0 {
		t.Error("no variables: the container would listen on its own loopback address")
	}
	for _, name := range names {
		if !flags[name] {
			t.Errorf("%s is no flag of serve", name)
		}
	}
	for _, part := range []string{"CGO_ENABLED=0", "\nUSER 65532", `"/toolmark", "serve", "--ready"`, fmt.Sprintf("\nCMD [%q]", "serve")} {
		if !strings.Contains(string(data), part) {
			t.Errorf("the Dockerfile lacks %q", part)
		}
	}
}

// flagVariables gives the variables that serve reads.
func flagVariables() map[string]bool {
	known := map[string]bool{}
	p := &program{env: system()}
	for _, flag := range flagNames(p.serveCommand()) {
		known["TOOLMARK_"+strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))] = true
	}
	return known
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
