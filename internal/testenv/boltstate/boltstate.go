// Package boltstate writes values into a state file that the present gitlatch never
// writes.
package boltstate

import (
	"errors"
	"testing"

	"go.etcd.io/bbolt"
)

// PutLatch writes the stored form of one latch, by its key, into a site's state in a
// state file. No other process may have the file open.
func PutLatch(t testing.TB, file, site, key, stored string) {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(site)).Bucket([]byte("latches")).Put([]byte(key), []byte(stored))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
