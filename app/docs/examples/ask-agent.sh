curl -sS -X POST $TREADLE_URL/agents/$AGENT_ID/chat \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"message": "What is new in Como?", "stream": false}'
