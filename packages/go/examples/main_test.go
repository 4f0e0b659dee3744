package shop

import (
	"testing"

	"github.com/mayfly-dynamodb/mayfly-go/mayflytest"
)

func TestMain(m *testing.M) { mayflytest.Main(m) }
