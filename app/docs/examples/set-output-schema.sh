curl -sS -X PUT $TREADLE_URL/agents/$AGENT_ID \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d @output-schema.json
