//! The comments of pages (W30 to W34).

use pulldown_cmark::{Event, Parser, html};

use super::Store;
use super::rows::CommentRow;
use crate::demo::{Access, Fault, WikiError, sql};

impl CommentRow {
    /// The author of every comment that is written with an API key.
    pub(in crate::demo) const AUTHOR: &'static str = "API";

    /// Its source as readers see it: HTML in it is text, and every line break is one.
    pub(in crate::demo) fn render(&self) -> String {
        let parsed = Parser::new(&self.content).map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::SoftBreak => Event::HardBreak,
            other => other,
        });
        let mut rendered = String::new();
        html::push_html(&mut rendered, parsed);
        rendered.replace("<br />", "<br>")
    }
}

impl Store {
    /// The comments of all pages, oldest first.
    pub fn comments(&self) -> impl Iterator<Item = &CommentRow> {
        self.comments.values()
    }

    /// Adds a comment as somebody else does, and answers its id.
    pub fn add_comment(&mut self, page: i64, author: &str, content: &str) -> i64 {
        let now = self.clock.now();
        self.last_comment += 1;
        let row = CommentRow {
            id: self.last_comment,
            page,
            reply_to: 0,
            content: content.to_owned(),
            author: author.to_owned(),
            created_at: now.clone(),
            updated_at: now,
        };
        self.comments.insert(row.id, row);
        self.last_comment
    }

    /// The comments of the page at a place, for whoever may read them there; of no page, none.
    pub(in crate::demo) fn comments_at(
        &self,
        locale: &str,
        path: &str,
        access: &Access,
    ) -> Result<Vec<CommentRow>, Fault> {
        let Some(page) = self.page_at(locale, path) else {
            return Ok(Vec::new());
        };
        access.demand("read:comments", &page.path, WikiError::CommentViewForbidden)?;
        let of_page = self.comments().filter(|comment| comment.page == page.id);
        Ok(of_page.cloned().collect())
    }

    /// One comment, for whoever may read those of its page.
    pub(in crate::demo) fn comment(&self, id: i64, access: &Access) -> Result<CommentRow, Fault> {
        let refusal = WikiError::CommentViewForbidden;
        Ok(self.checked(id, "read:comments", refusal, access)?.clone())
    }

    /// Adds a comment (W30); `may_now` says whether the account's last one was long enough ago.
    pub(in crate::demo) fn create_comment(
        &mut self,
        page: i64,
        reply_to: i64,
        content: &str,
        (access, may_now): (&Access, bool),
    ) -> Result<i64, Fault> {
        let content = content.trim();
        if content.encode_utf16().count() < 2 {
            return Err(WikiError::CommentContentMissing.into());
        }
        let path = self.existing(page)?.path.clone();
        access.demand("write:comments", &path, WikiError::CommentPostForbidden)?;
        if !may_now {
            return Err(Fault::error(
                "Your administrator has set a time limit before you can post another comment. Try again later.",
            ));
        }
        check(content)?;
        let id = self.add_comment(page, CommentRow::AUTHOR, content);
        if let Some(row) = self.comments.get_mut(&id) {
            row.reply_to = reply_to;
        }
        Ok(id)
    }

    /// Changes the text of a comment, whatever it is (W32), and answers it as readers see it.
    pub(in crate::demo) fn change_comment(
        &mut self,
        id: i64,
        content: &str,
        access: &Access,
    ) -> Result<String, Fault> {
        let refusal = WikiError::CommentManageForbidden;
        self.checked(id, "manage:comments", refusal, access)?;
        check(content)?;
        let now = self.clock.now();
        let row = self
            .comments
            .get_mut(&id)
            .ok_or(WikiError::CommentNotFound)?;
        content.clone_into(&mut row.content);
        row.updated_at = now;
        Ok(row.render())
    }

    /// Deletes a comment; those that answer it stay.
    pub(in crate::demo) fn delete_comment(
        &mut self,
        id: i64,
        access: &Access,
    ) -> Result<(), Fault> {
        let refusal = WikiError::CommentManageForbidden;
        self.checked(id, "manage:comments", refusal, access)?;
        self.comments.remove(&id);
        Ok(())
    }

    /// A comment, for whoever has a permission on its page.
    fn checked(
        &self,
        id: i64,
        permission: &str,
        refusal: WikiError,
        access: &Access,
    ) -> Result<&CommentRow, Fault> {
        let comment = self.comments.get(&id).ok_or(WikiError::CommentNotFound)?;
        let page = self.existing(comment.page)?;
        access.demand(permission, &page.path, refusal)?;
        Ok(comment)
    }
}

/// Checks that the database takes a comment's text.
fn check(content: &str) -> Result<(), Fault> {
    let columns = [
        ("authorId", "1"),
        ("content", content),
        ("email", "api@localhost"),
    ];
    sql::check("comments", &columns)
}
