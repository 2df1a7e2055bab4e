package stack

// spokeOfTheFleet is a role that fits the pattern of the first fleet.
const spokeOfTheFleet = "arn:aws:iam::444455556666:role/gitlatch-edge"

// fleetRequests are the operations that the roles of a fleet must be allowed or denied.
var fleetRequests = []request{
	{"give a turn", allow, "fleet on github", "DispatcherRole", "", "sqs:SendMessage", "Turns", "", map[string]string{"aws:SecureTransport": "true"}},
	{"give a turn in clear text", deny, "fleet on github", "DispatcherRole", "", "sqs:SendMessage", "Turns", "TurnsOverTlsOnly.PolicyDocument", map[string]string{"aws:SecureTransport": "false"}},
	{"send to another queue", deny, "fleet on github", "DispatcherRole", "", "sqs:SendMessage", "arn:aws:sqs:" + region + ":" + account + ":orders", "", nil},
	{"read the credential for the list", allow, "fleet on github", "DispatcherRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-AbCdEf", "", nil},
	{"read the list", allow, "fleet on codecommit", "DispatcherRole", "", "codecommit:GetBlob", repositories + "fleet", "", nil},
	{"run as the dispatcher's role", allow, "fleet on github", "", "lambda.amazonaws.com", "sts:AssumeRole", "DispatcherRole", "DispatcherRole.AssumeRolePolicyDocument", nil},

	{"take a turn", allow, "fleet on github", "WorkerRole", "", "sqs:ReceiveMessage", "Turns", "", map[string]string{"aws:SecureTransport": "true"}},
	{"end a turn", allow, "fleet on github", "WorkerRole", "", "sqs:DeleteMessage", "Turns", "", map[string]string{"aws:SecureTransport": "true"}},
	{"give a turn as a worker", deny, "fleet on github", "WorkerRole", "", "sqs:SendMessage", "Turns", "", map[string]string{"aws:SecureTransport": "true"}},
	{"take back a lost turn", deny, "fleet on github", "WorkerRole", "", "sqs:ReceiveMessage", "LostTurns", "", nil},
	{"find a cluster of the fleet", allow, "fleet on github", "WorkerRole", "", "eks:DescribeCluster", clusters + "prod-eu-blue", "", nil},
	{"find a cluster beside the fleet", deny, "fleet on github", "WorkerRole", "", "eks:DescribeCluster", clusters + "test-eu", "", nil},
	{"assume a spoke's role for the fleet", allow, "fleet on github", "WorkerRole", "", "sts:AssumeRole", spokeOfTheFleet, "", nil},
	{"assume another role for the fleet", deny, "fleet on github", "WorkerRole", "", "sts:AssumeRole", "arn:aws:iam::444455556666:role/admin", "", nil},
	{"assume a role in a second account of the fleet", allow, "fleet on github", "WorkerRole", "", "sts:AssumeRole", "arn:aws:iam::777788889999:role/gitlatch-edge", "", nil},
	{"assume a role of that name in a strange account", deny, "fleet on github", "WorkerRole", "", "sts:AssumeRole", "arn:aws:iam::999900001111:role/gitlatch-edge", "", nil},
	{"write the latches of any site of the fleet", allow, "fleet on github", "WorkerRole", "", "dynamodb:UpdateItem", "StateTable", "", keyed("prod-eu")},
	{"write what is of no site", deny, "fleet on github", "WorkerRole", "", "dynamodb:UpdateItem", "StateTable", "", map[string]string{"dynamodb:LeadingKeys": "fleet#europe"}},
	{"write the fleet's table without a key", deny, "fleet on github", "WorkerRole", "", "dynamodb:UpdateItem", "StateTable", "", nil},
	{"write another fleet's table", deny, "fleet on github", "WorkerRole", "", "dynamodb:UpdateItem", allTables + "gitlatch-asia-StateTable-1A2B3C4D5E6F", "", keyed("prod-eu")},
	{"commit to a branch of the fleet", allow, "fleet on codecommit", "WorkerRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("checkpoints/edge-1")},
	{"commit to the branch of the list", allow, "fleet on codecommit", "WorkerRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("live")},
	{"commit to a branch beside the fleet", deny, "fleet on codecommit", "WorkerRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("main")},
	{"commit to no branch of the fleet by name", deny, "fleet on codecommit", "WorkerRole", "", "codecommit:CreateCommit", repositories + "fleet", "", nil},
	{"delete a branch of the fleet", deny, "fleet on codecommit", "WorkerRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", reference("checkpoints/edge-1")},
	{"alert of the fleet", allow, "fleet on github", "WorkerRole", "", "sns:Publish", "AlertTopic", "", map[string]string{"aws:SecureTransport": "true"}},
	{"use the fleet's key by itself", deny, "fleet on github", "WorkerRole", "", "kms:Decrypt", "Key", "Key.KeyPolicy", nil},
	{"log as a worker among dispatches", deny, "fleet on github", "WorkerRole", "", "logs:PutLogEvents", "DispatcherLogs", "", nil},
	{"take the workers' role over", deny, "fleet on github", "", elsewhere, "sts:AssumeRole", "WorkerRole", "WorkerRole.AssumeRolePolicyDocument", nil},

	{"start a period", allow, "fleet on github", "ScheduleRole", "", "lambda:InvokeFunction", "FleetDispatcher", "", nil},
	{"start a worker by the schedule", deny, "fleet on github", "ScheduleRole", "", "lambda:InvokeFunction", "FleetWorker", "", nil},
}
