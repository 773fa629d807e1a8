-- What an account calls a project that it joined while it had one of the same slug. Null is the slug of the project.
ALTER TABLE "memberships" ADD COLUMN "slug" TEXT;

-- The slug itself, or the first of slug-2, slug-3 and so on that no other project of the account is called or owned by.
-- Ask while holding the row of the account, so that two at once cannot find the same one free.
CREATE FUNCTION free_slug(account uuid, wanted text, project uuid) RETURNS text LANGUAGE sql VOLATILE AS $$
  WITH taken AS MATERIALIZED (
    SELECT coalesce(m.slug, p.slug) AS slug FROM memberships m JOIN projects p ON p.id = m.project_id
    WHERE m.user_id = account AND m.project_id IS DISTINCT FROM project
    UNION
    SELECT slug FROM projects WHERE owner_id = account AND id IS DISTINCT FROM project
  )
  SELECT candidate FROM (
    SELECT 1 AS n, wanted AS candidate
    UNION ALL
    SELECT n, rtrim(left(wanted, 55), '-') || '-' || n FROM generate_series(2, 2 + (SELECT count(*)::integer FROM taken)) AS n
  ) AS candidates
  WHERE candidate NOT IN (SELECT slug FROM taken) ORDER BY n LIMIT 1
$$;

-- Of several projects of one slug within reach of an account, its own keeps the slug, else the one that it joined first.
UPDATE memberships m SET slug = r.slug || '-' || r.place
FROM (
  SELECT a.project_id, a.user_id, p.slug,
    row_number() OVER (PARTITION BY a.user_id, p.slug ORDER BY (p.owner_id = a.user_id) DESC, a.created_at, a.project_id) AS place
  FROM memberships a JOIN projects p ON p.id = a.project_id
) AS r
WHERE r.project_id = m.project_id AND r.user_id = m.user_id AND r.place > 1;

UPDATE memberships m SET slug = m.slug || '-' || right(m.project_id::text, 12)
WHERE m.slug IS NOT NULL AND EXISTS (
  SELECT FROM memberships o JOIN projects p ON p.id = o.project_id WHERE o.user_id = m.user_id AND o.slug IS NULL AND p.slug = m.slug
);
