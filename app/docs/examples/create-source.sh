curl -sS -X POST $TREADLE_URL/rags \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"name": "Handbook", "type": "documents"}'
