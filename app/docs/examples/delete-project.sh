curl -sS -X DELETE $TREADLE_URL/projects/$PROJECT_ID \
  -H "Authorization: Bearer $TREADLE_KEY"
