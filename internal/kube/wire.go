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

// The API server's protobuf is a list in an envelope (runtime.Unknown). Its typed
// decoder builds all of each object, most of which no reading looks at: here a
// message is cut first, and what is left is decoded by the same types.

// A cut is what stays of the fields of a message, by their numbers; of a field that it
// does not name, all. With a map instead of the list a look takes a tenth longer.
type cut []keep

// leaving returns a cut of which some fields do not stay.
func leaving(fields ...int) cut {
	var c cut
	for _, field := range fields {
		c = c.and(field, left)
	}
	return c
}

// and returns the cut with what stays of one more field.
func (c cut) and(field int, k keep) cut {
	c = append(c, make(cut, max(0, field+1-len(c)))...)
	c[field] = k
	return c
}

// A keep is what stays of a field. The zero value is all of it.
type keep struct {
	none bool
	with []byte   // nothing stays of a field that does not contain this
	upTo []string // of what is managed, what leads to the last of these names
	in   cut      // of a message, what stays of its fields
}

var whole keep

// of appends what is left of a message to what is there.
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
		case k.in == nil && k.upTo == nil, f.content == nil: // the types refuse a number where a message stands
			to = append(to, f.whole...)
		default:
			if to, err = k.of(to, f); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

// of appends what is left of a field.
func (k *keep) of(to []byte, f field) (_ []byte, err error) {
	to = protowire.AppendTag(to, f.number, protowire.BytesType)
	begin := len(to)
	if k.upTo != nil {
		to = append(to, upTo(f.content, k.upTo)...)
	} else if to, err = k.in.of(to, f.content); err != nil {
		return nil, err
	}
	var size [binary.MaxVarintLen64]byte // one for each message would be garbage
	return slices.Insert(to, begin, protowire.AppendVarint(size[:0], uint64(len(to)-begin))...), nil
}

// A field is one of a message: whole as it is encoded, with its tag, and its
// content, where it has a length and is not a number.
type field struct {
	number         protowire.Number
	content, whole []byte
}

// first is the first field of a message.
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

// envelope is what an answer in protobuf begins with.
var envelope = []byte("k8s\x00")

// parseWire takes a list of a kind apart: into what continues it, and its objects, still
// encoded. ok is false where the answer is anything else, of which the typed decoder
// knows what to say.
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

// contents are the contents of a message's fields, by number, of which the first
// three are no numbers in any of these messages.
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
