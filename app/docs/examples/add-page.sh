curl -sS -X POST $TREADLE_URL/rags/$RAG_ID/documents \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"url": "'$PAGE_URL'"}'
