curl -sS -X POST $TREADLE_URL/workflows/$WORKFLOW_ID/execute \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Idempotency-Key: order-4711" \
  -d '{"input": "Write a line about looms."}'
