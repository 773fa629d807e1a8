curl -sS $TREADLE_URL/executions/$EXECUTION_ID/logs \
  -H "Authorization: Bearer $TREADLE_KEY"
