BODY='{"action": "opened", "issue": {"number": 42, "title": "It is broken"}}'
SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)
curl -sS -X POST "$WEBHOOK_URL" \
  -H "Content-Type: application/json" \
  -H "X-GitHub-Event: issues" \
  -H "X-GitHub-Delivery: $(openssl rand -hex 16)" \
  -H "X-Hub-Signature-256: sha256=$SIGNATURE" \
  -d "$BODY"
