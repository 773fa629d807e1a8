curl -sS -X POST $TREADLE_URL/workflows \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -d @workflow.json
