package sqlite_test

import (
	"testing"

	"github.com/toolmark/toolmark/internal/store/storetest"
)

func TestStore(t *testing.T) { storetest.Run(t, storetest.SQLite) }
