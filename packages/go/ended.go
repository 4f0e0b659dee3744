package mayfly

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
)

// noticesEnd is the HTTP client of the AWS SDK clients. If the server has ended, requests fail with an *EndedError.
type noticesEnd struct{ server *Server }

func (client noticesEnd) Do(request *http.Request) (*http.Response, error) {
	answer, err := client.server.http.Do(request)
	if err != nil && request.Context().Err() == nil {
		err = client.server.whyNot(err)
	}
	return answer, err
}

// neverRetryEnded keeps AWS SDK clients from retrying calls to a server that has ended.
func (server *Server) neverRetryEnded(options *retry.StandardOptions) {
	ended := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
		var ended *EndedError
		if errors.As(err, &ended) {
			return aws.FalseTernary
		}
		return aws.UnknownTernary
	})
	options.Retryables = append([]retry.IsErrorRetryable{ended}, options.Retryables...)
}

// addEndedErrors removes the errors in which the steps of an AWS SDK call wrap an *EndedError, so that the message is
// readable. The client then wraps the *EndedError once.
func addEndedErrors(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("MayflyEnded",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
			middleware.InitializeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleInitialize(ctx, in)
			var ended *EndedError
			if errors.As(err, &ended) {
				err = ended
			}
			return out, metadata, err
		}), middleware.Before)
}
