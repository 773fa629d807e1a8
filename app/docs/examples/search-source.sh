curl -sS -G $TREADLE_URL/rags/$RAG_ID/search \
  -H "Authorization: Bearer $TREADLE_KEY" \
  --data-urlencode "query=Who may play the drums?" -d limit=3
