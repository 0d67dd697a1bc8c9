package postgres

// Migrations are for tests.
var Migrations = migrations
