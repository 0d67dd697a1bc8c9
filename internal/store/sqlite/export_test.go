package sqlite

// Migrations are for tests.
var Migrations = migrations
