curl -sS -X POST $TREADLE_URL/llm-keys \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"name": "Gateway", "provider": "openai_compatible", "base_url": "'$MODEL_URL'", "api_key": "'$MODEL_KEY'", "verify": true}'
