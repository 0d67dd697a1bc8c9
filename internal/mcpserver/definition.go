package mcpserver

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//go:embed tools.json
var definitions []byte

// definition is one entry of tools.json. The schemas stay as they are written.
type definition struct {
	Name         string              `json:"name"`
	Title        string              `json:"title"`
	Description  string              `json:"description"`
	Annotations  mcp.ToolAnnotations `json:"annotations"`
	InputSchema  json.RawMessage     `json:"inputSchema"`
	OutputSchema json.RawMessage     `json:"outputSchema"`
}

// readDefinitions gives the tools in the order of the file.
func readDefinitions() ([]*mcp.Tool, error) {
	var list []definition
	if err := json.Unmarshal(definitions, &list); err != nil {
		return nil, fmt.Errorf("read tools.json: %w", err)
	}
	tools := make([]*mcp.Tool, 0, len(list))
	for i := range list {
		d := &list[i]
		tools = append(tools, &mcp.Tool{
			Name: d.Name, Title: d.Title, Description: d.Description, Annotations: &d.Annotations,
			InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
		})
	}
	return tools, nil
}
