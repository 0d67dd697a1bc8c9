package migration

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
)

// River brings River's tables up to date, under the same lock as our own migrations. A
// database that needs nothing is only read.
func River[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], lock func(ctx context.Context) (unlock func() error, err error), log *slog.Logger) (err error) {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return fmt.Errorf("read the queue's migrations: %w", err)
	}
	state, err := migrator.Validate(ctx, nil)
	if err != nil {
		return fmt.Errorf("read the version of the queue: %w", err)
	}
	if state.OK {
		return nil
	}
	unlock, err := lock(ctx)
	if err != nil {
		return fmt.Errorf("wait for the lock on migrations: %w", err)
	}
	defer func() {
		if unlockErr := unlock(); err == nil && unlockErr != nil {
			err = fmt.Errorf("release the lock on migrations: %w", unlockErr)
		}
	}()
	// Migrate does what is missing: another process may have done all of it.
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the queue: %w", err)
	}
	return nil
}
