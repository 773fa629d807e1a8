curl -sS -X POST $TREADLE_URL/executions/$EXECUTION_ID/cancel \
  -H "Authorization: Bearer $TREADLE_KEY"
