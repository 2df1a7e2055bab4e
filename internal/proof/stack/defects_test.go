package stack

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A defect is one change of a template that a check must find.
type defect struct {
	name     string
	file     string // "" is the main template
	from, to string // from is in the file exactly once

	by, rule string // the validator that must find it, and the name of its rule
}

const rings = "      AlarmActions: [!If [OwnsState, !Ref AlertTopic, !ImportValue {\"Fn::Sub\": \"${StateStack}-Topic\"}]]\n"

// ringsBeside is the same text in a template next to the core.
const ringsBeside = "      AlarmActions: [!Ref TopicArn]\n"

// restoresConfig is the text of the restore function's configuration before its state.
const restoresConfig = "409MiB\n          GITLATCH_CONFIG: !Sub\n            - |\n              apiVersion: gitlatch.dev/v1alpha1\n              kind: Config\n" +
	"              site: \"${Site}\"\n              cluster: {eks: \"${ClusterName}\"}\n              "

var defects = []defect{
	// Problems of the second stack in a region, or of the first one after a deletion.
	{"the schedule has a name", "", "            OmitName: true\n            State: !Ref ScheduleState", "            State: !Ref ScheduleState", "cfn-guard", "schedules_have_no_name"},
	{"the table has a name", "", "      BillingMode:", "      TableName: gitlatch\n      BillingMode:", "cfn-guard", "nothing_has_a_fixed_name"},
	{"an export is not the stack's own", "", "Export: {Name: !Sub \"${AWS::StackName}-Topic\"}", "Export: {Name: gitlatch-Topic}", "contract", "coexistence"},

	// Data that would be lost, or read by others.
	{"the table goes with the stack", "", "  StateTable:\n    Type: AWS::DynamoDB::Table\n    Condition: OwnsState\n    DeletionPolicy: Retain", "  StateTable:\n    Type: AWS::DynamoDB::Table\n    Condition: OwnsState\n    DeletionPolicy: Delete", "cfn-guard", "tables_outlive_the_stack"},
	{"the table has no past", "", "PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false", "cfn-guard", "tables_go_back_in_time"},
	{"the table has a key of AWS", "", "        KMSMasterKeyId: !GetAtt Key.Arn\n", "", "cfn-guard", "tables_have_a_key_of_ours"},
	{"the key goes with the stack, and the table is noise", "", "  Key:\n    Type: AWS::KMS::Key\n    Condition: OwnsState\n    DeletionPolicy: RetainExceptOnCreate", "  Key:\n    Type: AWS::KMS::Key\n    Condition: OwnsState\n    DeletionPolicy: Delete", "cfn-guard", "keys_outlive_the_stack"},
	{"the key does not rotate", "", "EnableKeyRotation: true", "EnableKeyRotation: false", "cfn-guard", "keys_rotate"},
	{"the topic has a key of AWS", "", "      KmsMasterKeyId: !GetAtt Key.Arn", "      KmsMasterKeyId: alias/aws/sns", "cfn-guard", "topics_have_a_key_of_ours"},
	{"CloudWatch may decrypt, but make no data key", "", "              - kms:GenerateDataKey*\n", "", "cfn-guard", "cloudwatch_may_use_the_key_of_the_topic"},
	{"a queue is not encrypted", "", "  FailedTicks:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: Delete\n    UpdateReplacePolicy: Delete\n    Properties:\n      SqsManagedSseEnabled: true", "  FailedTicks:\n    Type: AWS::SQS::Queue\n    DeletionPolicy: Delete\n    UpdateReplacePolicy: Delete\n    Properties:\n      SqsManagedSseEnabled: false", "cfn-guard", "queues_are_encrypted"},
	{"logs stay for ever", "", "      RetentionInDays: 30\n", "      LogGroupClass: STANDARD\n", "cfn-guard", "logs_expire_and_outlive_the_stack"},

	// Roles with too many permissions.
	{"SAM adds managed policies", "", "      Role: !GetAtt LatchRole.Arn", "      Policies: [AWSLambdaBasicExecutionRole]\n      Role: !GetAtt LatchRole.Arn", "cfn-guard", "functions_have_a_role_of_their_own"},
	{"a managed policy is attached", spokeSource, "      RoleName: !Ref AWS::StackName", "      RoleName: !Ref AWS::StackName\n      ManagedPolicyArns: [!Sub \"arn:${AWS::Partition}:iam::aws:policy/ReadOnlyAccess\"]", "cfn-guard", "roles_have_no_managed_policies"},
	{"a role escapes its boundary", spokeSource, "      PermissionsBoundary: !If [HasBoundary, !Ref PermissionsBoundaryArn, !Ref AWS::NoValue]\n", "", "cfn-guard", "roles_take_a_boundary"},
	{"a right is on everything", "", "                Action: sns:Publish\n                Resource: !If [OwnsState, !Ref AlertTopic, !ImportValue {\"Fn::Sub\": \"${StateStack}-Topic\"}]", "                Action: sns:Publish\n                Resource: \"*\"", "cfn-guard", "rights_are_on_something"},
	{"a right is to everything", "", "                    - codecommit:GetBlob\n", "                    - codecommit:Get*\n", "cfn-guard", "rights_name_actions"},
	{"prod reaches prod2, too", "", "ForAllValues:StringEquals:\n                    dynamodb:LeadingKeys: [!Sub \"site#${Site}\"]", "ForAllValues:StringLike:\n                    dynamodb:LeadingKeys: [!Sub \"site#${Site}*\"]", "iam", "read a site whose name only begins alike"},
	{"the state is not confined at all", "", "                  ForAllValues:StringEquals:\n                    dynamodb:LeadingKeys: [!Sub \"site#${Site}\"]\n", "", "cfn-guard", "state_is_reached_by_its_own_keys"},
	{"a request without keys passes by their condition", "", "                  \"Null\":\n                    dynamodb:LeadingKeys: \"false\"\n", "", "iam", "query without a key"},
	{"the branch may be left unnamed", "", "                      StringEquals:\n                        codecommit:References: [", "                      StringEqualsIfExists:\n                        codecommit:References: [", "iam", "commit to no branch by name"},
	{"the proposal's branch may be left unnamed", "", "                    StringEquals:\n                      codecommit:References:\n", "                    StringEqualsIfExists:\n                      codecommit:References:\n", "iam", "commit to no branch by name past the people who review"},
	{"a branch is written without its name", "", "                    StringEquals:\n                      codecommit:References:\n", "                    StringEqualsIfExists:\n                      codecommit:References:\n", "cfn-guard", "branches_are_written_by_name"},
	{"anybody may assume the spoke's role", spokeSource, "Principal: {AWS: !Ref HubRoleArn}", "Principal: {AWS: \"*\"}", "cfn-guard", "roles_trust_somebody"},
	{"another account may schedule", "", "            Action: sts:AssumeRole\n            Condition:\n              StringEquals:\n                aws:SourceAccount: !Ref AWS::AccountId\n", "            Action: sts:AssumeRole\n", "cfn-guard", "schedules_are_of_this_account"},
	{"EKS refuses the group", "", "KubernetesGroups: [\"gitlatch:samplers\"]", "KubernetesGroups: [\"system:masters\"]", "cfn-guard", "groups_are_ours"},

	// Defects that only the simulator of IAM detects.
	{"the state's prefix is another", "", "site#${Site}", "cluster#${Site}", "iam", "write the site's latches"},
	{"a condition's key is misspelt", "", "dynamodb:LeadingKeys: [", "dynamodb:LeadingKey: [", "iam", "read a site whose name only begins alike"},
	{"the key is given away with the role", "", "                Condition:\n                  StringEquals:\n                    kms:ViaService: !Sub \"dynamodb.${AWS::Region}.${AWS::URLSuffix}\"\n", "", "iam", "use the key by itself"},
	{"the secret's name is only a beginning", "", "secret:${Credential}-??????\"\n                - !If", "secret:${Credential}*\"\n                - !If", "iam", "read a secret whose name only begins alike"},
	{"the secret has no suffix", "", "secret:${Credential}-??????\"\n                - !If", "secret:${Credential}\"\n                - !If", "iam", "read the credential"},
	{"the key decrypts every secret", "", "                    StringLike:\n                      kms:EncryptionContext:SecretARN:\n                        - !Sub \"arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${Credential}-??????\"\n                        - !If [HasSigningKey, !Sub \"arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:${SigningKey}-??????\", !Ref AWS::NoValue]\n", "", "iam", "decrypt another secret with that key"},
	{"the repository's policy is for another service", "", "Action: codecommit:CreateCommit\n", "Action: codecommit:PutFile\n", "iam", "commit to the branch"},
	{"all branches may be written", "", "                    Condition:\n                      StringEquals:\n                        codecommit:References: [!Sub \"refs/heads/${Branch}\"]\n", "", "iam", "commit to another branch"},
	{"reviewers are passed by", "", "  CommitsDirectly: !Equals [!Ref PublishMode, direct]", "  CommitsDirectly: !Not [!Equals [!Ref PublishMode, \"\"]]", "iam", "commit past the people who review"},
	{"logs go nowhere", "", "                Resource: !GetAtt LatchLogs.Arn", "                Resource: !Sub \"arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:/aws/lambda/latch\"", "iam", "log"},
	{"failed ticks cannot be kept", "", "              - Sid: KeepFailedTicks\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: !GetAtt FailedTicks.Arn", "              - Sid: KeepFailedTicks\n                Effect: Allow\n                Action: sqs:SendMessage\n                Resource: !GetAtt UndeliveredTicks.Arn", "iam", "keep a failed tick"},
	{"the function itself may look at the network", "", "                - Sid: DenyNetworkToTheCode\n                  Effect: Deny", "                - Sid: DenyNetworkToTheCode\n                  Effect: Allow", "iam", "look at the network, as the function"},
	{"alarms of other accounts reach the topic", "", "            Resource: !Ref AlertTopic\n            Condition:\n              StringEquals:\n                aws:SourceAccount: !Ref AWS::AccountId\n", "            Resource: !Ref AlertTopic\n", "iam", "alarm for another account"},
	{"the spoke asks for no external id", spokeSource, "            Condition:\n              StringEquals:\n                sts:ExternalId: !Sub \"gitlatch/${Site}\"\n", "", "iam", "assume the spoke's role without the external id"},

	// Failures without a report.
	{"failed ticks are tried again", "", "        MaximumRetryAttempts: 0\n        MaximumEventAgeInSeconds: !FindInMap", "        MaximumRetryAttempts: 2\n        MaximumEventAgeInSeconds: !FindInMap", "cfn-guard", "failed_events_are_kept"},
	{"undelivered ticks are lost", "", "            DeadLetterConfig:\n              Arn: !GetAtt UndeliveredTicks.Arn\n", "", "cfn-guard", "undelivered_events_are_kept"},
	{"the schedule cannot be turned off", "", "            State: !Ref ScheduleState", "            State: ENABLED", "cfn-guard", "schedules_can_be_turned_off"},
	{"metrics are filtered away with the log", "", "        LogGroup: !Ref LatchLogs\n        LogFormat: JSON\n        ApplicationLogLevel: INFO", "        LogGroup: !Ref LatchLogs\n        LogFormat: JSON\n        ApplicationLogLevel: WARN", "cfn-guard", "functions_log_to_a_group_of_ours"},
	{"an alarm never says that it is over", "", "whether pushes fail or a pull request waits for a review. See gitlatch help troubleshooting.\n" + rings + "      OKActions:", "whether pushes fail or a pull request waits for a review. See gitlatch help troubleshooting.\n" + rings + "      InsufficientDataActions:", "cfn-guard", "alarms_ring_and_say_when_it_is_over"},
	{"a schedule that stopped is not missed", "", "      TreatMissingData: breaching", "      TreatMissingData: notBreaching", "cfn-guard", "a_missing_heartbeat_rings"},

	{"the heartbeat is missed only where there is a mail to send", "", "    Condition: Scheduled\n", "    Condition: HasEmail\n", "contract", "metrics"},
	{"the heartbeat is missed while ticks are off on purpose", "", "    Condition: Scheduled\n", "", "contract", "metrics"},
	{"ticks begin before they can log in", "", "!If [Local, !Ref LatchAccess, of the spoke]", "of the spoke", "contract", "access"},
	{"releases begin before they can log in", restoreSource, ", by the access entry ${RestoreAccess}", "", "contract", "access"},
	{"a heartbeat rings", "", "      ComparisonOperator: LessThanThreshold", "      ComparisonOperator: GreaterThanThreshold", "contract", "alarms"},
	{"pushes that fail are counted by the least of a period", monitoringSource, "      MetricName: PushFailures\n      Dimensions: [{Name: site, Value: !Ref Site}]\n      Statistic: Sum", "      MetricName: PushFailures\n      Dimensions: [{Name: site, Value: !Ref Site}]\n      Statistic: Minimum", "contract", "alarms"},
	{"the schedule's dead letters are refused", "", "              Arn: !GetAtt UndeliveredTicks.Arn", "              Arn: !GetAtt FailedTicks.Arn", "contract", "queues"},
	{"no rights are bound to the spoke's group", spokeSource, "KubernetesGroups: [\"gitlatch:samplers\"]", "KubernetesGroups: [\"gitlatch:sampler\"]", "contract", "access of the spoke"},
	{"an endpoint is of what nobody calls", endpointsSource, "com.amazonaws.${AWS::Region}.sns", "com.amazonaws.${AWS::Region}.sqs", "contract", "endpoints"},

	{"an endpoint keeps spokes out", endpointsSource, "                  aws:PrincipalAccount: !Ref SpokeAccounts", "                  aws:PrincipalAccount: !Ref AWS::AccountId", "endpoints", "passages"},

	// Differences between the template and the code.
	{"the configuration's variable is misspelt", "", "          GITLATCH_CONFIG: !Sub\n            - |\n              apiVersion: gitlatch.dev/v1alpha1\n              kind: Config\n              site: \"${Site}\"\n              period", "          GITLATCH_CONF: !Sub\n            - |\n              apiVersion: gitlatch.dev/v1alpha1\n              kind: Config\n              site: \"${Site}\"\n              period", "contract", "environment"},
	{"the configuration's text is misspelt", "", `alerts: {topicArn: "${Topic}"}`, `alerts: {sns: {topic: "${Topic}"}}`, "contract", "configuration"},
	{"a site's name becomes a number", "", "site: \"${Site}\"\n              period", "site: ${Site}\n              period", "contract", "configuration"},
	{"the schedule sends another site", "", "{\"site\": \"${Site}\", \"time\"", "{\"site\": \"${ClusterName}\", \"time\"", "contract", "event"},
	{"an event that is delivered twice is two samples", "", ", \"time\": \"<aws.scheduler.scheduled-time>\"}'", "}'", "contract", "event"},
	{"a tick outlives its lease", "", "Seconds: 300, Timeout: 240", "Seconds: 300, Timeout: 280", "contract", "periods"},
	{"a right is granted that nobody uses", "", "                  - dynamodb:Query\n", "                  - dynamodb:Query\n                  - dynamodb:PutItem\n", "contract", "rights"},
	{"a right is used that is not granted", "", "                  - dynamodb:DeleteItem\n", "", "contract", "rights"},
	{"the table's key is another", "", "        - {AttributeName: pk, AttributeType: S}\n        - {AttributeName: sk, AttributeType: S}\n      KeySchema:\n        - {AttributeName: pk, KeyType: HASH}", "        - {AttributeName: id, AttributeType: S}\n        - {AttributeName: sk, AttributeType: S}\n      KeySchema:\n        - {AttributeName: id, KeyType: HASH}", "contract", "table"},

	// Defects in the restore.
	{"a restore reads every secret whose name begins alike", restoreSource, "secret:${Credential}-??????\"\n                #", "secret:${Credential}*\"\n                #", "iam", "read another secret to restore"},
	{"a restore logs among ticks", restoreSource, "                Resource: !GetAtt RestoreLogs.Arn", "                Resource: !Sub \"arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:*\"", "iam", "log a restore among ticks"},
	{"failed restores cannot be kept", restoreSource, "                Action: sqs:SendMessage\n                Resource: !GetAtt FailedRestores.Arn", "                Action: sqs:SendMessage\n                Resource: !GetAtt UndeliveredReleases.Arn", "iam", "keep a failed restore"},
	{"the restore itself may look at the network", restoreSource, "                - Sid: DenyNetworkToTheCodeOfARestore\n                  Effect: Deny", "                - Sid: DenyNetworkToTheCodeOfARestore\n                  Effect: Allow", "iam", "look at the network, as a restore"},
	{"releases are started as ticks", restoreSource, "                Resource: !GetAtt RestoreFunction.Arn", "                Resource: !Sub \"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:latch\"", "iam", "start a release"},
	{"a step of a plan does not know its action", restoreSource, "          GITLATCH_ACTION: !Ref RegionSwitchAction\n", "", "contract", "environment"},
	{"the schedule restores", restoreSource, "\"action\": \"release\", \"expired\": true", "\"action\": \"restore\", \"expired\": true", "contract", "releases"},
	{"the schedule releases every brake", restoreSource, "\"expired\": true", "\"expired\": false", "contract", "releases"},

	// Defects in the drill.
	{"a drill keeps the reports of all sites", drillSource, "${DrillBucket}/gitlatch/drills/${Site}/*", "${DrillBucket}/gitlatch/drills/${Site}*", "iam", "keep a report of a site whose name only begins alike"},
	{"a drill keeps reports in anybody's bucket", drillSource, "drills/${Site}/*\"\n                  Condition: {StringEquals: {\"aws:ResourceAccount\": !Ref AWS::AccountId}}\n", "drills/${Site}/*\"\n", "iam", "keep a report in another account's bucket of this name"},
	{"a drill commits to any branch", drillSource, "                    Condition: {StringEquals: {\"codecommit:References\": [!Sub \"refs/heads/${Branch}\"]}}\n", "", "iam", "commit a flush to another branch"},
	{"a drill logs among ticks", drillSource, "                Resource: !GetAtt DrillLogs.Arn", "                Resource: !Sub \"arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:*\"", "iam", "log a drill among ticks"},
	{"a drill may find any cluster", drillSource, "cluster/${HubClusterName}", "cluster/*", "iam", "find another cluster than the hub"},
	{"a drill may find node groups of any cluster", drillSource, "nodegroup/${Name}/*", "nodegroup/${Name}*", "iam", "describe a node group of another cluster"},
	{"a drill reads the account in any Region", drillSource, "                Condition: {StringEquals: {\"aws:RequestedRegion\": !If [HasStandby, !Select [3, !Split [\":\", !Ref StandbyClusterArn]], !Ref AWS::Region]}}\n", "", "iam", "read the subnets of another Region"},
	{"a drill in a VPC cannot read subnets", drillSource, "Action: [ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ec2:DescribeNetworkInterfaces, ec2:UnassignPrivateIpAddresses]", "Action: ec2:*", "iam", "read the subnets for a drill in a VPC"},
	{"no drill is held by itself", drillSource, "ScheduleExpression: !If [HasSchedule, !Ref DrillSchedule, rate(1 day)]", "ScheduleExpression: rate(30 days)", "contract", "drills"},
	{"the schedule may not start a drill", drillSource, "                Resource: !GetAtt DrillFunction.Arn", "                Resource: !Sub \"arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:latch\"", "iam", "start a drill"},
	{"a drill that stops at its deadline is not noticed", drillSource, "      Threshold: 720000\n      TreatMissingData: notBreaching\n\n  DrillsAreLow", "      Threshold: 900000\n      TreatMissingData: notBreaching\n\n  DrillsAreLow", "contract", "drills"},

	// Defects in the separation of the stacks.
	{"ticks are in the group of those that restore", "", "KubernetesGroups: [\"gitlatch:samplers\"]", "KubernetesGroups: [\"gitlatch:restorers\"]", "contract", "reach"},
	{"a tick may make an access entry", "", "                  Action: eks:DescribeCluster\n", "                  Action: [eks:DescribeCluster, eks:CreateAccessEntry]\n", "contract", "reach"},
	{"a further stack imports the topic", monitoringSource, "\n  TicksSlow:\n", "\n  Topic: {Type: \"AWS::SNS::Topic\", Properties: {KmsMasterKeyId: !ImportValue gitlatch-Key}}\n  TicksSlow:\n", "contract", "apart"},
	{"a further stack exports its function", restoreSource, "    Value: !Ref RestoreFunction\n", "    Value: !Ref RestoreFunction\n    Export: {Name: !Sub \"${AWS::StackName}-Function\"}\n", "contract", "apart"},
	{"a parameter takes a list in one string", restoreSource, "\"^[-/_+=.@0-9A-Za-z]{0,512}$\"", "\"^[-/_+=.,@0-9A-Za-z]{0,512}$\"", "contract", "parameters"},

	// The fleet's own template.
	{"a worker's batch fails as a whole", fleetSource, "            FunctionResponseTypes: [ReportBatchItemFailures]\n", "", "contract", "turns"},
	{"turns come again while a worker is at them", fleetSource, "Timeout: 240, SlowAfter: 192000, EventAge: 240, Visibility: 1440", "Timeout: 240, SlowAfter: 192000, EventAge: 240, Visibility: 240", "contract", "turns"},
	{"the dispatcher is not told the queue", fleetSource, "          GITLATCH_QUEUE: !Ref Turns\n", "", "contract", "environment of the fleet"},
	{"a worker is told of the queue", fleetSource, "          GOMEMLIMIT: 409MiB\n", "          GOMEMLIMIT: 409MiB\n          GITLATCH_QUEUE: !Ref Turns\n", "contract", "environment of the fleet"},
	{"the dispatcher is told of no list", fleetSource, "          GITLATCH_QUEUE: !Ref Turns\n          GITLATCH_CONFIG: !Sub\n            - |\n              apiVersion: gitlatch.dev/v1alpha1\n              kind: Config\n              site: \"${Fleet}\"\n              fleet: \"fleets/${Fleet}.yaml\"\n", "          GITLATCH_QUEUE: !Ref Turns\n          GITLATCH_CONFIG: !Sub\n            - |\n              apiVersion: gitlatch.dev/v1alpha1\n              kind: Config\n              site: \"${Fleet}\"\n", "contract", "configuration of the fleet"},
	{"an alarm is on a metric of one site", fleetSource, "      MetricName: Dispatches\n      Dimensions: [{Name: fleet,", "      MetricName: Dispatches\n      Dimensions: [{Name: site,", "contract", "alarms of the fleet"},
	{"a fleet's heartbeat is missed while it is off on purpose", fleetSource, "  HeartbeatMissing:\n    Type: AWS::CloudWatch::Alarm\n    Condition: Scheduled\n", "  HeartbeatMissing:\n    Type: AWS::CloudWatch::Alarm\n", "contract", "alarms of the fleet"},
	{"a worker may send turns", fleetSource, "                  - sqs:ReceiveMessage\n", "                  - sqs:ReceiveMessage\n                  - sqs:SendMessage\n", "iam", "give a turn as a worker"},
	{"a dispatcher may alert", fleetSource, "              - Sid: SendTurns\n", "              - Sid: Alert\n                Effect: Allow\n                Action: sns:Publish\n                Resource: !Ref AlertTopic\n              - Sid: SendTurns\n", "contract", "rights of the fleet"},
}

// source is the template with the defect.
func (d defect) source() string { return cmp.Or(d.file, source) }

// readAs reads a template in place of another one.
func readAs(t *testing.T, name, file string) template {
	t.Helper()
	of := readFile(t, file)
	of.name = name
	return of
}

// apply writes the template with the defect and returns the file.
func (d defect) apply(t *testing.T, dir string) string {
	t.Helper()
	name := d.source()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), d.from); n != 1 || d.from == d.to {
		t.Errorf("%s: what it changes stands %d times in %s", d.name, n, name)
	}
	file := filepath.Join(dir, regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(d.name), "-")+".yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), d.from, d.to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDefectsAreCaughtByContracts(t *testing.T) {
	t.Parallel()
	catch(t, "contract", brokenContracts)
}

// catch fails the test unless find finds each defect that is by name. All files are searched
// together, because the start of a validator takes longer than a search.
func catch(t *testing.T, name string, find func(t *testing.T, of []defect, files []string) []finding) {
	t.Helper()
	dir := t.TempDir()
	var of []defect
	var files []string
	for _, d := range defects {
		if d.by == name {
			of, files = append(of, d), append(files, d.apply(t, dir))
		}
	}
	found := find(t, of, files)
	for i, d := range of {
		if !slices.ContainsFunc(found, func(f finding) bool { return f.File == files[i] && f.By == d.by && f.Rule == d.rule }) {
			t.Errorf("%s: %s did not say %s", d.name, d.by, d.rule)
			for _, f := range found {
				if f.File == files[i] {
					t.Logf("it said: %s %s %s", f.By, f.Rule, f.Text)
				}
			}
		}
	}
}

func brokenContracts(t *testing.T, of []defect, files []string) (found []finding) {
	t.Helper()
	for i, d := range of {
		of := repository(t)
		of[d.source()] = readAs(t, d.source(), files[i])
		for _, c := range contracts {
			if c.name != d.rule {
				continue
			}
			for _, broken := range c.check(t, of) {
				found = append(found, finding{files[i], "contract", c.name, "", broken})
			}
		}
	}
	return found
}

var guardRule = regexp.MustCompile(`(?m)^rule ([a-z_]+)( when .*)? \{`)

func TestEachRuleOfOursCatchesADefect(t *testing.T) {
	t.Parallel()
	caught := map[string]bool{}
	named := map[string]bool{}
	for _, d := range defects {
		if named[d.name] {
			t.Errorf("two defects are called %q", d.name)
		}
		named[d.name] = true
		caught[d.by+" "+d.rule] = true
	}
	files, err := filepath.Glob(filepath.Join(root, "infra/guard/*.guard"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no rules: %v", err)
	}
	var rules []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range guardRule.FindAllSubmatch(text, -1) {
			rules = append(rules, "cfn-guard "+string(found[1]))
		}
	}
	for _, c := range contracts {
		rules = append(rules, "contract "+c.name)
	}
	for _, rule := range rules {
		if !caught[rule] {
			t.Errorf("no defect shows that %s catches anything", rule)
		}
	}
}
