curl -sS -X POST $TREADLE_URL/projects/$PROJECT_ID/members \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"email": "grace@example.com", "role": "editor"}'
