curl -sS "$TREADLE_URL/workflows?page=1&per_page=100" \
  -H "Authorization: Bearer $TREADLE_KEY"
