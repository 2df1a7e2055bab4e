package kube

import (
	"bytes"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The API server's protobuf is a list in an envelope (runtime.Unknown). The typed decoder
// decodes each object in full, but readings use only a few of the fields. The functions
// in this file remove unused fields from the message first. The types then decode the
// rest.

// A cut maps field numbers of a message to the part of the field that remains. Fields
// that it does not list remain in full. It is a slice because a sample takes a tenth
// longer with a map.
type cut []keep

// leaving returns a cut that removes some fields.
func leaving(fields ...int) cut {
	var c cut
	for _, field := range fields {
		c = c.and(field, left)
	}
	return c
}

// and returns the cut with one more field.
func (c cut) and(field int, k keep) cut {
	c = append(c, make(cut, max(0, field+1-len(c)))...)
	c[field] = k
	return c
}

// A keep is the part of a field that remains. The zero value is the full field.
type keep struct {
	none bool     // removes the field
	with []byte   // removes the field if it does not contain this
	upTo []string // truncates managed fields after the last of these nested names
	in   cut      // for a message, the cut of its fields
}

var whole keep

// of appends the remaining part of a message to a buffer.
func (c cut) of(to, message []byte) ([]byte, error) {
	for len(message) > 0 {
		f, err := first(message)
		if err != nil {
			return nil, err
		}
		message = message[len(f.whole):]
		k := &whole
		if int(f.number) < len(c) {
			k = &c[f.number]
		}
		switch {
		case k.none, k.with != nil && !bytes.Contains(f.content, k.with):
		case k.in == nil && k.upTo == nil, f.content == nil: // the types reject a number in place of a message
			to = append(to, f.whole...)
		default:
			if to, err = k.of(to, f); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

// of appends the remaining part of a field.
func (k *keep) of(to []byte, f field) (_ []byte, err error) {
	to = protowire.AppendTag(to, f.number, protowire.BytesType)
	begin := len(to)
	if k.upTo != nil {
		to = append(to, upTo(f.content, k.upTo)...)
	} else if to, err = k.in.of(to, f.content); err != nil {
		return nil, err
	}
	var size [binary.MaxVarintLen64]byte // a slice per message would be garbage
	return slices.Insert(to, begin, protowire.AppendVarint(size[:0], uint64(len(to)-begin))...), nil
}

// A field is one encoded field of a message, with its tag. content is the value if it has
// a length prefix, and nil if it is a number.
type field struct {
	number         protowire.Number
	content, whole []byte
}

// first returns the first field of a message.
func first(message []byte) (f field, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return f, protowire.ParseError(tag)
	}
	size := protowire.ConsumeFieldValue(number, kind, message[tag:])
	if size < 0 {
		return f, protowire.ParseError(size)
	}
	f = field{number: number, whole: message[:tag+size]}
	if kind == protowire.BytesType {
		f.content, _ = protowire.ConsumeBytes(f.whole[tag:])
	}
	return f, nil
}

// envelope is the prefix of an answer in protobuf.
var envelope = []byte("k8s\x00")

// parseWire returns the continue token of a list and its encoded objects. ok is false if
// the answer is not a list of the kind. The typed decoder then returns the error.
func parseWire(answer []byte, kind schema.GroupVersionKind) (next string, objects [][]byte, ok bool) {
	message, ok := bytes.CutPrefix(answer, envelope)
	if !ok {
		return "", nil, false
	}
	outer, ok := contents(message)
	var stated runtime.TypeMeta
	if !ok || len(outer[1]) != 1 || len(outer[2]) != 1 || stated.Unmarshal(outer[1][0]) != nil || stated.GroupVersionKind() != kind {
		return "", nil, false
	}
	inner, ok := contents(outer[2][0])
	var meta metav1.ListMeta
	if !ok || len(inner[1]) != 1 || meta.Unmarshal(inner[1][0]) != nil {
		return "", nil, false
	}
	return meta.Continue, inner[2], true
}

// contents returns the contents of a message's fields by number. In all messages of this
// package the first three fields are not numbers.
func contents(message []byte) (by map[protowire.Number][][]byte, ok bool) {
	by = map[protowire.Number][][]byte{}
	for len(message) > 0 {
		f, err := first(message)
		if err != nil || f.content == nil && f.number <= 3 {
			return nil, false
		}
		message = message[len(f.whole):]
		by[f.number] = append(by[f.number], f.content)
	}
	return by, true
}
