curl -sS -X POST "$TREADLE_URL/http/$WORKFLOW_ID?city=Oslo" \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"days": 3}'
