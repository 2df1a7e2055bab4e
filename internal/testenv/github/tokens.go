package github

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// mint hands out a token to an App that proves to be it.
func (s *Server) mint(r request) (int, any) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch doubt := s.app.proves(token, time.Now()); {
	case doubt != "":
		return http.StatusUnauthorized, m{"message": doubt, "documentation_url": "https://docs.github.com/rest", "status": "401"}
	case r.PathValue("installation_id") != fmt.Sprint(s.app.InstallationID):
		return notFound()
	case s.suspended:
		return http.StatusForbidden, m{"message": "This installation has been suspended"}
	}
	names, _ := r.said["repositories"].([]any)
	for _, name := range names {
		if s.origins[fmt.Sprint(name)] == nil {
			return http.StatusUnprocessableEntity, m{"message": "There is at least one repository that does not exist or is not accessible to the parent installation.", "documentation_url": "https://docs.github.com/rest", "errors": []any{}}
		}
	}
	s.minted++
	fresh := fmt.Sprintf("ghs_%016d", s.minted)
	s.tokens[fresh] = true
	granted := m{"contents": "write", "pull_requests": "write"}
	if asked, ok := r.said["permissions"].(map[string]any); ok {
		granted = asked
	}
	s.narrow[fresh] = granted["contents"] != "write"
	return http.StatusCreated, m{
		"token": fresh, "expires_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		"permissions": granted, "repository_selection": "selected",
	}
}

const undecoded = "A JSON web token could not be decoded"

// proves checks a JSON web token as GitHub does: it must have the signature of the
// App's key, the App's id, and a validity of ten minutes or less. It returns GitHub's
// error, or "".
func (a App) proves(token string, now time.Time) string {
	part := strings.Split(token, ".")
	if len(part) != 3 || a.Key == nil {
		return undecoded
	}
	signature, err := base64.RawURLEncoding.DecodeString(part[2])
	sum := sha256.Sum256([]byte(part[0] + "." + part[1]))
	if err != nil || rsa.VerifyPKCS1v15(a.Key, crypto.SHA256, sum[:], signature) != nil {
		return undecoded
	}
	text, _ := base64.RawURLEncoding.DecodeString(part[1])
	var claims struct {
		Iss      any
		Iat, Exp int64
	}
	if err := json.Unmarshal(text, &claims); err != nil || fmt.Sprint(claims.Iss) != fmt.Sprint(a.ID) {
		return "'Issuer' claim ('iss') must be an Integer that is the App's id"
	}
	if claims.Exp < now.Unix() || claims.Exp > now.Add(11*time.Minute).Unix() || claims.Iat > now.Unix() {
		return "'Expiration time' claim ('exp') is too far in the future"
	}
	return ""
}
