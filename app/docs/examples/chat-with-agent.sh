curl -sSN -X POST $TREADLE_URL/agents/$AGENT_ID/chat \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "message": "And in Lyon?",
    "history": [
      {"role": "user", "content": "What is new in Como?"},
      {"role": "assistant", "content": "A mill restarted its looms."}
    ]
  }'
