curl -sS -X PUT $TREADLE_URL/rags/$RAG_ID \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "config": {
      "embedding_llm_key_id": "'$LLM_KEY_ID'",
      "embedding_model": "text-embedding-3-small"
    }
  }'
