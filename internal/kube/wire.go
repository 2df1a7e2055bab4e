package kube

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The API server's protobuf is a list in an envelope (runtime.Unknown). Its typed
// decoder builds all of each object, most of which no reading looks at: here a
// message is cut first, and what is left is decoded by the same types.

// A cut is what is left out of a message, by the numbers of its fields: all of one
// whose own cut is nil, or that cut of it. At others, which is no field's number, stands
// that a message without what is ours is left out.
type cut map[protowire.Number]cut

const others protowire.Number = 0

// ours is what annotations that are heeded begin with.
var ours = []byte("gitlatch.dev/")

// of appends a message to what is there, without what the cut leaves out.
func (c cut) of(to, message []byte) ([]byte, error) {
	for len(message) > 0 {
		field, err := first(message)
		if err != nil {
			return nil, err
		}
		message = message[len(field.whole):]
		inner, named := c[field.number]
		_, choosy := inner[others]
		switch {
		case !named, choosy && bytes.Contains(field.content, ours):
			to = append(to, field.whole...)
		case choosy:
		case inner != nil && field.content == nil:
			return nil, errOtherWire
		case inner != nil:
			to = protowire.AppendTag(to, field.number, protowire.BytesType)
			begin := len(to)
			if to, err = inner.of(to, field.content); err != nil {
				return nil, err
			}
			var size [binary.MaxVarintLen64]byte // one for each message would be garbage
			to = slices.Insert(to, begin, protowire.AppendVarint(size[:0], uint64(len(to)-begin))...)
		}
	}
	return to, nil
}

var errOtherWire = errors.New("a message stands where another type was expected")

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

// A wireList is a list as the API server encodes it, its objects still encoded.
type wireList struct {
	next    string
	objects [][]byte
}

// envelope is what an answer in protobuf begins with.
var envelope = []byte("k8s\x00")

// parseWire takes a list of a kind apart; ok is false where the answer is anything
// else, of which the typed decoder knows what to say.
func parseWire(answer []byte, kind schema.GroupVersionKind) (list wireList, ok bool) {
	message, ok := bytes.CutPrefix(answer, envelope)
	if !ok {
		return list, false
	}
	outer, ok := contents(message)
	if !ok || len(outer[1]) != 1 || len(outer[2]) != 1 {
		return list, false
	}
	version, stated := kind.ToAPIVersionAndKind()
	named, ok := contents(outer[1][0])
	if !ok || !is(named[1], version) || !is(named[2], stated) {
		return list, false
	}
	inner, ok := contents(outer[2][0])
	if !ok || len(inner[1]) != 1 {
		return list, false
	}
	meta, ok := contents(inner[1][0])
	if !ok || len(meta[3]) > 1 {
		return list, false
	}
	for _, token := range meta[3] {
		list.next = string(token)
	}
	list.objects = inner[2]
	return list, true
}

func is(content [][]byte, text string) bool { return len(content) == 1 && string(content[0]) == text }

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
