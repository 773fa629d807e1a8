BODY='{"id": "evt_1", "type": "payment_intent.succeeded", "data": {"object": {"amount": 12950, "currency": "eur"}}}'
TIME=$(date +%s)
SIGNATURE=$(printf %s "$TIME.$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)
curl -sS -X POST "$WEBHOOK_URL" \
  -H "Content-Type: application/json" \
  -H "Stripe-Signature: t=$TIME,v1=$SIGNATURE" \
  -d "$BODY"
