curl -sS -X POST $TREADLE_URL/webhooks/setup/$WORKFLOW_ID \
  -H "Authorization: Bearer $TREADLE_KEY" -H "Content-Type: application/json" \
  -d "{\"webhook_secret\": \"$WEBHOOK_SECRET\"}"
