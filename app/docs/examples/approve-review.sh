curl -sS -X POST $TREADLE_URL/executions/$EXECUTION_ID/approve \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"decision": "approved", "comment": "Looks good"}'
