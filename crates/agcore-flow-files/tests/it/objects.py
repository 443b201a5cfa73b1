"""Serves buckets on loopback with moto, and prints the port and the keys of a user who may use them."""
import os
import sys

# The number of calls that need no keys. Four are made below.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = sys.argv[1]

import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
_, port = server.get_host_and_port()
options = {
    "endpoint_url": f"http://127.0.0.1:{port}",
    "region_name": "us-east-1",
    "aws_access_key_id": "setup",
    "aws_secret_access_key": "setup",
}
boto3.client("s3", **options).create_bucket(Bucket="files")
iam = boto3.client("iam", **options)
iam.create_user(UserName="user")
policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'
iam.put_user_policy(UserName="user", PolicyName="all", PolicyDocument=policy)
key = iam.create_access_key(UserName="user")["AccessKey"]
print(port, key["AccessKeyId"], key["SecretAccessKey"], flush=True)
# Ends with the test that started it.
sys.stdin.read()
