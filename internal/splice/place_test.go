package splice

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestPlacesAreCountedInCharactersAndInAnyOrder(t *testing.T) {
	t.Parallel()
	p := newPlaces([]byte("\ufeffé: 5\r\n漢字: \"😀\" # c\nx"))
	for _, c := range []struct{ line, column, want int }{
		{1, 1, 3}, {1, 2, 5}, {1, 4, 7}, {1, 2, 5}, {3, 1, 29}, {2, 5, 18}, {2, 8, 24}, {2, 5, 18}, {3, 2, 30}, {3, 9, 30},
	} {
		if got := p.of(&yaml.Node{Line: c.line, Column: c.column}); got != c.want {
			t.Errorf("line %d, column %d is at %d, want %d", c.line, c.column, got, c.want)
		}
	}
}
