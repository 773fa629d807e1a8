curl -sS -X POST $TREADLE_URL/workflows/$WORKFLOW_ID/execute \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"input": "Write a line about looms."}'
