// Package boltstate writes into a state file what no gitlatch of today would.
package boltstate

import (
	"errors"
	"testing"

	"go.etcd.io/bbolt"
)

// PutLatch writes the stored form of one latch, by its key, over that of a site in a
// state file. Nobody else may have the file open.
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
