curl -sS -X POST $TREADLE_URL/agents/try \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "config": {"llm_key_id": "'$LLM_KEY_ID'", "model": "gpt-4.1-mini", "system_prompt": "Answer in one line."},
    "message": "What is new in Como?"
  }'
