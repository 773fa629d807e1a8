curl -sS -N $TREADLE_URL/executions/$EXECUTION_ID/stream \
  -H "Authorization: Bearer $TREADLE_KEY"
