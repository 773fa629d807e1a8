BODY='{"type": "event_callback", "event_id": "Ev1", "event": {"type": "app_mention", "text": "<@U0LAN0Z89> status"}}'
TIME=$(date +%s)
SIGNATURE=$(printf %s "v0:$TIME:$BODY" | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d' ' -f1)
curl -sS -X POST "$WEBHOOK_URL" \
  -H "Content-Type: application/json" \
  -H "X-Slack-Request-Timestamp: $TIME" \
  -H "X-Slack-Signature: v0=$SIGNATURE" \
  -d "$BODY"
