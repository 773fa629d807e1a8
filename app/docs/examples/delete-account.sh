curl -sS -X DELETE $TREADLE_URL/users/me \
  -H "Authorization: Bearer $TREADLE_KEY" \
  -H "Content-Type: application/json" \
  -d '{"password": "'$PASSWORD'", "delete_projects": true}'
