package main

import (
	"net/netip"
	"os"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/toolmark/toolmark"
)

// openCountries reads a MaxMind DB (format 2.0) with country.iso_code, as GeoLite2
// Country and DB-IP have it. The file is read whole, so that it may be replaced while
// the service runs; the service sees the new one when it starts again. "" gives nil.
func openCountries(path string) (func(netip.Addr) string, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: "the country database cannot be read", Err: err}
	}
	db, err := maxminddb.OpenBytes(data)
	if err != nil {
		return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + " is not a MaxMind database", Err: err}
	}
	return func(addr netip.Addr) string {
		var code string
		// An address that is not in the file, or has no country there, has none.
		if !addr.IsValid() || db.Lookup(addr).DecodePath(&code, "country", "iso_code") != nil {
			return ""
		}
		return code
	}, nil
}
