package registry

import (
	"context"

	"github.com/toolmark/toolmark/internal/access"
)

// AdmitPublic lets in a caller without a key, where the operator opened something to
// those: the service's access list and a rate for the caller's address (IPv6: its /64),
// counted in this process only. The error is an *access.Denial, or a fault.
func (s *Service) AdmitPublic(ctx context.Context, client access.Client) (access.Rate, error) {
	now := s.cfg.Now()
	bucket := access.Bucket(client.Addr)
	allowed, err := s.serviceAllows(ctx, client)
	if err != nil {
		return access.Rate{}, err
	}
	if !allowed {
		return access.Rate{}, &access.Denial{
			Code: access.AccessListBlock, Message: "An access list refuses this request.", Rate: s.public.standing(bucket, s.cfg.PublicPerMinute, now),
		}
	}
	rate, ok := s.public.request(bucket, s.cfg.PublicPerMinute, now)
	if !ok {
		return rate, &access.Denial{
			Code: access.RateExceeded, Message: "Too many requests in this minute; a key has a rate of its own.", Rate: rate, RetryAfter: rate.Reset.Sub(now),
		}
	}
	return rate, nil
}
