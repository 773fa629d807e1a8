BODY='{"issue": {"title": "It is broken"}}'
SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)
curl -sS -X POST "$WEBHOOK_URL" \
  -H "Content-Type: application/json" \
  -H "X-SERVICE-Signature: sha256=$SIGNATURE" \
  -d "$BODY"
