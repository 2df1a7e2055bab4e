package eks

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// describe answers DescribeCluster.
func (s *Server) describe(w http.ResponseWriter, who principal, name string, err error) {
	var failed failure
	c, ok := s.clusters[name]
	switch {
	case errors.As(err, &failed):
		if failed.code == "AccessDenied" {
			failed.code = "AccessDeniedException" // as EKS spells it
		}
	case !ok || c.Account != "" && c.Account != account(who.arn):
		failed = failure{http.StatusNotFound, "ResourceNotFoundException", fmt.Sprintf("No cluster found for name: %s.", name)}
	}
	w.Header().Set("Content-Type", "application/json")
	if failed.status != 0 {
		w.Header().Set("X-Amzn-ErrorType", failed.code)
		w.WriteHeader(failed.status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": failed.message})
		return
	}
	cluster := map[string]any{
		"name":               name,
		"arn":                fmt.Sprintf("arn:aws:eks:%s:%s:cluster/%s", Region, account(who.arn), name),
		"status":             cmp.Or(c.Status, "ACTIVE"),
		"accessConfig":       map[string]any{"authenticationMode": "API"},
		"resourcesVpcConfig": map[string]any{"vpcId": "vpc-0a1b2c3d", "endpointPublicAccess": !c.Private, "endpointPrivateAccess": c.Private, "publicAccessCidrs": []string{"0.0.0.0/0"}},
	}
	if c.Endpoint != "" {
		cluster["endpoint"] = c.Endpoint
		cluster["certificateAuthority"] = map[string][]byte{"data": c.CA}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"cluster": cluster})
}

type identity struct {
	Arn     string
	UserID  string `xml:"UserId" json:"UserId"`
	Account string
}

type keys struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      string
}

// sts answers GetCallerIdentity, in JSON if the client accepts that, and AssumeRole.
func (s *Server) sts(w http.ResponseWriter, r *http.Request, who principal, err error) {
	var failed failure
	switch action := r.Form.Get("Action"); {
	case errors.As(err, &failed):
	case action == "GetCallerIdentity":
		result := identity{Arn: who.arn, UserID: "AROAEXAMPLE:" + who.arn[strings.LastIndex(who.arn, "/")+1:], Account: account(who.arn)}
		if r.Header.Get("Accept") == "application/json" {
			_ = json.NewEncoder(w).Encode(map[string]any{"GetCallerIdentityResponse": map[string]any{"GetCallerIdentityResult": result}})
			return
		}
		answer(w, http.StatusOK, struct {
			XMLName xml.Name `xml:"GetCallerIdentityResponse"`
			Result  identity `xml:"GetCallerIdentityResult"`
		}{Result: result})
		return
	case action == "AssumeRole":
		result, refused := s.assume(r, who)
		if refused == nil {
			answer(w, http.StatusOK, struct {
				XMLName xml.Name `xml:"AssumeRoleResponse"`
				Keys    keys     `xml:"AssumeRoleResult>Credentials"`
			}{Keys: result})
			return
		}
		failed = *refused
	default:
		failed = failure{http.StatusBadRequest, "InvalidAction", "Could not find operation " + action}
	}
	answer(w, failed.status, struct {
		XMLName xml.Name `xml:"ErrorResponse"`
		Code    string   `xml:"Error>Code"`
		Message string   `xml:"Error>Message"`
	}{Code: failed.code, Message: failed.message})
}

// assume makes a key of a role.
func (s *Server) assume(r *http.Request, who principal) (keys, *failure) {
	role := r.Form.Get("RoleArn")
	externalID, ok := s.roles[role]
	if !ok || externalID != r.Form.Get("ExternalId") {
		return keys{}, &failure{http.StatusForbidden, "AccessDenied", fmt.Sprintf("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", who.arn, role)}
	}
	name := role[strings.LastIndex(role, "/")+1:]
	p := principal{
		arn:    fmt.Sprintf("arn:aws:sts::%s:assumed-role/%s/%s", account(role), name, r.Form.Get("RoleSessionName")),
		secret: rand.Text(),
		token:  rand.Text(),
	}
	key := "ASIA" + rand.Text()[:16]
	s.keys[key] = p
	return keys{key, p.secret, p.token, soon(r).Format(time.RFC3339)}, nil
}

func answer(w http.ResponseWriter, status int, what any) {
	w.Header().Set("Content-Type", "text/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(what)
}
