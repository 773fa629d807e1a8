curl -sS -X PUT $TREADLE_URL/projects/$PROJECT_ID \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"retention_days": 90}'
