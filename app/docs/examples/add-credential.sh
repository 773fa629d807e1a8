curl -sS -X POST $TREADLE_URL/credentials \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"name": "GITHUB_TOKEN", "value": "'$GITHUB_TOKEN'"}'
