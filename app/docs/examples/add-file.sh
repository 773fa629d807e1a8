curl -sS -X POST $TREADLE_URL/rags/$RAG_ID/documents \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -F file=@house-rules.md
