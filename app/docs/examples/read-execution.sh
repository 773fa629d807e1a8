curl -sS $TREADLE_URL/executions/$EXECUTION_ID \
  -H "Authorization: Bearer $TREADLE_KEY"
