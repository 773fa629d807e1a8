curl -sS "$TREADLE_URL/rags/$RAG_ID/documents?status=indexing" \
  -H "Authorization: Bearer $TREADLE_KEY"
