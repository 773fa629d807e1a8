import hashlib
import hmac
import json
import os
import urllib.request

body = json.dumps({"issue": {"title": "It is broken"}}).encode()
signature = hmac.new(os.environ["WEBHOOK_SECRET"].encode(), body, hashlib.sha256).hexdigest()
request = urllib.request.Request(
    os.environ["WEBHOOK_URL"],
    data=body,  # exactly the bytes that were signed
    headers={"Content-Type": "application/json", "X-SERVICE-Signature": f"sha256={signature}"},
)
print(urllib.request.urlopen(request).read().decode())
