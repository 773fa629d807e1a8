curl -sS -X POST $TREADLE_URL/agents \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "Scout",
    "llm_key_id": "'$LLM_KEY_ID'",
    "model": "gpt-4.1-mini",
    "system_prompt": "Answer in two lines.",
    "tools": ["web_search", "web_scraper"]
  }'
